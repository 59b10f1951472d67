/** Voice messages: what transcribes those of people, and what speaks replies. Imported when the first one comes. */
export { createSpeech, type Speech, type SpeechAt, type SpeechOptions } from "./speech.ts";
