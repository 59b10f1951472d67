/** Names of the entries of an archive that are safe below a directory, whatever system it is on. */

const maxNameBytes = 4_096;
const maxPartBytes = 255;

/** Why an entry with this name is refused, as the end of a sentence about it; `undefined`: it is not. */
export function pathProblem(name: string): string | undefined {
  if (Buffer.byteLength(name) > maxNameBytes) return "its name is too long";
  if (/^[/\\]|^[A-Za-z]:/.test(name)) return "its path is absolute";
  if (/[\\\p{Cc}]/u.test(name)) return "its name contains a backslash or a control character";
  const parts = name.replace(/\/$/, "").split("/");
  if (parts.includes("..")) return "its path leads out of the directory";
  if (parts.some((part) => part === "" || part === "." || Buffer.byteLength(part) > maxPartBytes))
    return "its path is not a plain one";
  return undefined;
}

/** Equal for two names that are one file on some systems, which ignore case or the form of accents. */
export const sameName = (name: string): string => name.replace(/\/$/, "").normalize("NFC").toLowerCase();
