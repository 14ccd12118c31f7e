// SPDX-License-Identifier: Apache-2.0
/* note.h - what the shim and the task's first process say to each other, over a
 * seqpacket socketpair: one note a packet, some with a descriptor. */
#pragma once

#include <stdint.h>

enum note_kind {
	NOTE_MAPPED,  /* to init: the user namespace has its maps */
	NOTE_BUILT,   /* from init, with a descriptor of the task's /proc */
	NOTE_SPACE,   /* from init, private mode: its user, then its mount namespace */
	NOTE_TMPFS,   /* from init, where watch_needed(): its root, then its /dev/shm */
	NOTE_GO,      /* to init: limits hold and the mark is durable: run it */
	NOTE_STARTED, /* from init: the command or a stage was exec'ed */
	NOTE_FAILED,  /* from init, instead of BUILT or STARTED: text says why */
	NOTE_TERM,    /* to init; text: the stop notice, or "" */
	NOTE_STAGE,   /* from init: value is the stage that begins, -1: the command */
	NOTE_EXIT, /* from init: value is the wait status, text says whose if there were
		       * several; init ends right after */
};

#define NOTE_TEXT_MAX 2048 /* with the NUL */

struct note {
	enum note_kind kind;
	int value;
	char text[NOTE_TEXT_MAX];
};

int note_send(int wire, enum note_kind kind, int value, const char *text);
int note_send_fd(int wire, enum note_kind kind, int fd);
/* 1: got one (*fd: what came with it, or -1; may be NULL); 0: the other side is gone; -1. */
int note_recv(int wire, struct note *out, int *fd);
