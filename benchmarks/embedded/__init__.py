"""Programs for microcontrollers, run in an emulator."""
