/**
 * What a machine says was spoken, made safe: one line of plain words. Programs print times and noises, models invent
 * sentences for silence, and a person can say anything.
 */
import { cleanExternal } from "../../untrusted/index.ts";

/** Ten minutes of speech have about 10,000 characters. */
const mostCharacters = 20_000;

/** `[00:00:00.000 --> 00:00:04.000]`, as programs print it before each line. */
const times = /^\s*\[[\d:.,]+ *--> *[\d:.,]+\]/gm;

/** `[BLANK_AUDIO]`, `(wind blowing)`, `*coughs*`, `♪ la la ♪`: a note about what is heard, and no words. */
const noises = /\[[^\]\n]{0,80}\]|\([^)\n]{0,80}\)|\*[^*\n]{0,80}\*|[♪♫][^♪♫\n]{0,200}[♪♫]?/gu;

/** Sentences that models give for silence, from the subtitles that they were trained with. */
const invented =
  /^(?:transcribe the audio|thanks? (?:you )?(?:so much )?for watching|please subscribe.*|.*\bamara\.org\b.*|(?:sub(?:titles?|titrage|titulos)|untertitel|sous-titr\w*)\b.{0,80})$/iu;

const hasWords = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

/** Only what can follow a word at the end of a sentence. */
const withoutEnd = (text: string): string => text.replace(/[\s.!…]+$/u, "");

/** A whole message that means `/stop`. Other words for it are in `commands.abortWords`. */
const stops = /^(?:\/|slash )?stop(?:[\s,.!]+stop)*$/iu;

/** The words; empty if there are none. A spoken stop is `/stop`; nothing else begins like a command. */
export function cleanTranscript(heard: string): string {
  const line = cleanExternal(heard.slice(0, 4 * mostCharacters).replace(times, " "))
    .replace(/\s+/g, " ")
    .trim();
  if (!hasWords(line.replace(noises, " ")) || invented.test(withoutEnd(line))) return "";
  if (stops.test(withoutEnd(line))) return "/stop";
  const text = line.replace(/^[\s/]+/, "");
  const characters = [...text];
  return characters.length > mostCharacters ? `${characters.slice(0, mostCharacters - 1).join("")}…` : text;
}
