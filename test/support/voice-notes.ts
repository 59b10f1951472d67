/** Voice notes as phones send them: recorded ones, and others that are made by espeak-ng and opusenc. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../house/sources.ts";
import { temporaryDirectory } from "./directory.ts";

export const voiceNote = (name: "friday" | "stop"): Buffer =>
  readFileSync(join(root, "test/fixtures/speech", `${name}.ogg`));

/** The paths of what was spoken here, as WAV and as a note; `undefined` where the programs are missing. */
export function madeHere(words: string): { readonly wav: string; readonly note: string } | undefined {
  const directory = temporaryDirectory();
  const [wav, note] = [join(directory, "a.wav"), join(directory, "a.ogg")];
  try {
    execFileSync("espeak-ng", ["-w", wav, words], { stdio: "ignore" });
    execFileSync("opusenc", ["--quiet", "--bitrate", "16", wav, note], { stdio: "ignore" });
    return { wav, note };
  } catch {
    return undefined;
  }
}
