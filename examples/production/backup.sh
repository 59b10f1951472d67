#!/bin/sh
# Copies the state of a gateway that does not run: backup.sh STATE_DIRECTORY TARGET.tar
# Stop the gateway before, start it again afterwards. Senders repeat their webhooks meanwhile, and chat platforms keep their messages.
set -eu
state=$1
target=$2
umask 077
tar -C "$state" -cf "$target.part" .
mv "$target.part" "$target"
