/** Codes of voice messages: what transcribes them, and what speaks replies. */
import type { CodeTable } from "./code.ts";

export const speechCodes = {
  speech_empty: {
    meaning: "No words were found in the voice message; its sender was notified of that.",
    hint: "",
  },
  speech_failed: {
    meaning: "The voice message could not be transcribed.",
    hint: "Read the detail; check models.speech.in and the files of the message.",
    outcome: "failed",
  },
  speech_heard: {
    meaning: "A machine transcribed the voice message; its words may be wrong.",
    hint: "",
  },
  speech_not_configured: {
    meaning: "The voice message was not transcribed: models.speech.in is not set.",
    hint: "Set models.speech.in to a model or a program that transcribes.",
  },
  speech_not_fetched: {
    meaning: "The voice message could not be fetched from the platform.",
    hint: "Read the detail; it contains the platform's reason.",
    outcome: "failed",
  },
  speech_not_spoken: {
    meaning: "The reply was sent as text only, without a voice message.",
    hint: "Read the detail; check models.speech.out.",
  },
  speech_spoken: { meaning: "The reply was sent as a voice message, with its text.", hint: "" },
  speech_too_long: {
    meaning: "The voice message is longer than 10 minutes or larger than 25 MB.",
    hint: "Ask the sender for shorter messages.",
    outcome: "failed",
  },
  speech_unavailable: {
    meaning: "What transcribes voice messages does not answer.",
    hint: "Check the servers and programs of models.speech.in: `{command} doctor`.",
    outcome: "failed",
  },
} as const satisfies CodeTable;
