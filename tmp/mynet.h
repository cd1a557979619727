
#include <eml_net.h>
static const float mynet_layer_0_biases[8] = { 4.119582f, 1.987006f, -6.457435f, -0.450299f, 0.636159f, -2.606122f, -0.027206f, 0.164916f };
static const float mynet_layer_0_weights[80] = { -0.072105f, -0.001796f, 3.830569f, 0.034338f, 0.153484f, 2.529819f, -3.031223f, 1.039346f, 0.204863f, -0.000828f, 3.752197f, -0.332905f, -0.579734f, 2.310973f, 1.213895f, -3.117751f, -3.623419f, -0.005466f, 0.085651f, -2.897183f, 0.167650f, 0.063759f, -0.176212f, -0.134643f, -0.345203f, 0.012565f, -0.292490f, 0.255053f, -1.961361f, 0.221348f, -0.455487f, -0.686190f, -1.111529f, 0.009201f, -0.022542f, 0.856004f, -0.004878f, 0.137823f, -0.228165f, -0.149348f, -0.169978f, 0.004219f, -0.004339f, 0.337884f, 0.342921f, 0.025235f, 0.168388f, 0.141579f, -0.241235f, -0.003191f, -0.108774f, 0.176409f, 0.282884f, 0.047169f, 0.222645f, -0.152137f, -0.147205f, -0.004663f, -0.061158f, 0.124300f, 0.307998f, -0.100282f, -0.005684f, -0.179423f, -0.157871f, -0.004510f, -0.094942f, 0.069097f, 0.069881f, 0.072896f, 0.035249f, 0.152150f, -0.202191f, -0.000308f, -0.004813f, 0.071769f, 0.315175f, -0.036928f, -0.216790f, -0.047849f };
static const float mynet_layer_1_biases[1] = { 10.102034f };
static const float mynet_layer_1_weights[8] = { -4.250158f, 0.043654f, -5.795497f, 5.043593f, -3.902885f, 4.160978f, -3.605684f, -3.826310f };
static float mynet_buf1[10];
static float mynet_buf2[10];
static const EmlNetLayer mynet_layers[2] = { 
{ 8, 10, mynet_layer_0_weights, mynet_layer_0_biases, EmlNetActivationTanh }, 
{ 1, 8, mynet_layer_1_weights, mynet_layer_1_biases, EmlNetActivationIdentity } };
static EmlNet mynet = { 2, mynet_layers, mynet_buf1, mynet_buf2, 10 };

    int32_t
    mynet_predict(const float *features, int32_t n_features)
    {
        return eml_net_predict(&mynet, features, n_features);
    }
    

    int32_t
    mynet_regress(const float *features, int32_t n_features, float *out, int32_t out_length)
    {
        return eml_net_regress(&mynet, features, n_features, out, out_length);
    }
    

    float
    mynet_regress1(const float *features, int32_t n_features)
    {
        return eml_net_regress1(&mynet, features, n_features);
    }
    