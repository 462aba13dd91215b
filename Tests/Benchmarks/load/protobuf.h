/* The few pieces of protobuf's wire format that an adapter needs. */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Writing. Each function writes at `o`, for which there must be room, and returns the place behind. */

static inline uint8_t *protobuf_varint(uint8_t *o, uint64_t value) {
    for (; value >= 128; value >>= 7) *o++ = (uint8_t)value | 128;
    *o++ = (uint8_t)value;
    return o;
}

static inline uint8_t *protobuf_integer(uint8_t *o, int field, uint64_t value) {
    return protobuf_varint(protobuf_varint(o, (uint64_t)field << 3), value);
}

/* The head of a field of `size` bytes, which the caller writes behind it. */
static inline uint8_t *protobuf_head(uint8_t *o, int field, size_t size) {
    return protobuf_varint(protobuf_varint(o, (uint64_t)field << 3 | 2), size);
}

static inline uint8_t *protobuf_bytes(uint8_t *o, int field, const void *bytes, size_t size) {
    o = protobuf_head(o, field, size);
    memcpy(o, bytes, size);
    return o + size;
}

/* Sizes of what is written. */

static inline size_t protobuf_varint_size(uint64_t value) {
    size_t size = 1;
    while (value >>= 7) size++;
    return size;
}

static inline size_t protobuf_integer_size(int field, uint64_t value) {
    return protobuf_varint_size((uint64_t)field << 3) + protobuf_varint_size(value);
}

static inline size_t protobuf_bytes_size(int field, size_t size) {
    return protobuf_varint_size((uint64_t)field << 3) + protobuf_varint_size(size) + size;
}

/* Reading. */

struct protobuf_reader { const uint8_t *at, *end; bool is_broken; };

struct protobuf_field {
    int number;
    uint64_t value;         /* Of a number. */
    const uint8_t *bytes;   /* Of a text, of bytes or of a message; NULL otherwise. They belong to what is read. */
    size_t size;
};

static inline uint64_t protobuf_read_varint(struct protobuf_reader *r) {
    uint64_t value = 0;
    for (int shift = 0; r->at < r->end && shift < 64; shift += 7) {
        uint8_t byte = *r->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
    r->is_broken = true;
    return 0;
}

/* Passes over `size` bytes and returns where they begin, or NULL if there aren't as many. */
static inline const uint8_t *protobuf_take(struct protobuf_reader *r, uint64_t size) {
    const uint8_t *start = r->at;
    if ((uint64_t)(r->end - r->at) < size) { r->is_broken = true; return NULL; }
    r->at += size;
    return start;
}

/* Reads the next field. Returns false at the end, and where the bytes are no protobuf: is_broken says which. */
static inline bool protobuf_next(struct protobuf_reader *r, struct protobuf_field *f) {
    if (r->at == r->end) return false;
    uint64_t key = protobuf_read_varint(r);
    *f = (struct protobuf_field){ .number = (int)(key >> 3) };
    switch (key & 7) {
    case 0: f->value = protobuf_read_varint(r); break;
    case 1: protobuf_take(r, 8); break;
    case 2: f->size = protobuf_read_varint(r); f->bytes = protobuf_take(r, f->size); break;
    case 5: protobuf_take(r, 4); break;
    default: r->is_broken = true;
    }
    return !r->is_broken;
}

#endif
