// Platform: the operating system, as a program meets it.
//
// Owns files, files with secrets, standard input and output, signals, and what the process knows
// about itself. Never decides what a file means, and never knows a setting, an account or a
// request.
