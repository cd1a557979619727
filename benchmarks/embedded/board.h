/* The start of a Cortex-M, text by semihosting, and a clock. There is no library. */
#ifndef BOARD_H
#define BOARD_H

extern unsigned int stack_top;
int main(void);

static inline int semihost(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static inline void print(const char *text) { semihost(4, text); }

static inline void print_hex(unsigned int word)
{
    char text[10];
    int i;
    for (i = 0; i < 8; ++i) {
        const unsigned int digit = (word >> (28 - 4 * i)) & 15u;
        text[i] = (char)(digit < 10u ? '0' + (int)digit : 'a' + (int)digit - 10);
    }
    text[8] = ' ';
    text[9] = 0;
    print(text);
}

static inline void print_real(const void *value, int n_words)
{
    const unsigned int *words = (const unsigned int *)value;
    while (n_words > 0) print_hex(words[--n_words]);
}

#define SYSTICK ((volatile unsigned int *)0xE000E010u)

static inline void clock_start(void)
{
    SYSTICK[1] = 0xFFFFFFu;
    SYSTICK[2] = 0;
    SYSTICK[0] = 5;
}

static inline unsigned int clock_ticks(void) { return 0xFFFFFFu - SYSTICK[2]; }

/* 200,000 instructions, so that ticks can be turned into instructions. */
static inline unsigned int ticks_of_known_loop(void)
{
    unsigned int n = 100000u;
    clock_start();
    __asm__ volatile(".syntax unified\n 1: subs %0, #1\n bne 1b" : "+l"(n) : : "cc");
    return clock_ticks();
}

void start(void);
void start(void)
{
#if defined(__ARM_FP)
    *(volatile unsigned int *)0xE000ED88u |= 0xFu << 20; /* the floating-point unit */
    __asm__ volatile("dsb\n isb");
#endif
    main();
    semihost(0x18, (const void *)0x20026);
    for (;;) { }
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = { &stack_top, (const void *)start };

#endif
