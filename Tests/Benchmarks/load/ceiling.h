/* The ceiling's protocol: a length of 4 bytes in the machine's order, which counts what follows it; one byte that says
 * what the frame is; then
 *
 *   LOG_IN     the user's name            is answered by LOGGED_IN
 *   SUBSCRIBE  the channel's name         is answered by SUBSCRIBED
 *   PUBLISH    the size of the channel's name in one byte, the name, the payload; not answered
 *   MESSAGE    the same, from the broker
 *   PING                                  is answered by PONG */
#ifndef CEILING_H
#define CEILING_H

enum ceiling_frame {
    CEILING_LOG_IN = 1, CEILING_LOGGED_IN, CEILING_SUBSCRIBE, CEILING_SUBSCRIBED, CEILING_PUBLISH, CEILING_MESSAGE,
    CEILING_PING, CEILING_PONG,
};

enum { CEILING_LENGTH_BYTES = 4, CEILING_FRAME_BYTES_MAX = 128 * 1024 };

#endif
