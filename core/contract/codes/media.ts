/** Codes of incoming and outgoing files. */
import type { CodeTable } from "./code.ts";

export const mediaCodes = {
  address_not_public: {
    meaning: "The file's address is not a public one, so it was not fetched.",
    hint: "Put the file at a public address or into the agent's workspace.",
    outcome: "failed",
  },
  file_lost: {
    meaning: "A file of the reply was on another node only, and that node has been away for ten minutes.",
    hint: "Send the file again. Files below 1 MiB are stored with the reply and do not depend on one node.",
    outcome: "failed",
  },
  host_unknown: {
    meaning: "The host in the file's address has no DNS entry.",
    hint: "Check the address.",
    outcome: "failed",
  },
  media_missing: {
    meaning: "The file does not exist.",
    hint: "Check the path; a reply names files in the agent's workspace.",
    outcome: "failed",
  },
  media_refused: {
    meaning: "The file cannot be sent or fetched.",
    hint: "Read the detail; it says which rule the file breaks.",
    outcome: "failed",
  },
  media_unreachable: {
    meaning: "The file could not be fetched from its address.",
    hint: "Check the address and its server.",
    outcome: "failed",
  },
  no_room: {
    meaning: "The disk has no room for the file.",
    hint: "Free space on the disk of the state directory.",
    outcome: "failed",
  },
  too_large: {
    meaning: "The file is larger than allowed.",
    hint: "Send a smaller file, or raise mediaMaxMb.",
    outcome: "failed",
  },
} as const satisfies CodeTable;
