/* The command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

/* Fills in `options`. Ends the program with a usage text if they make no sense. */
void options_read(int argument_count, char **arguments);

#endif
