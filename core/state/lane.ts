/** Names of lanes. */

/** Marks the lane in which control commands run, so that they never wait for a turn. Session keys contain no tab. */
export const controlSuffix = "\tcontrol";

/** Separates the parts of a lane, so an id that contains one of these is encoded. */
const reserved = /[%:\t]/g;

/**
 * A chat or a thread as a part of a lane. Most ids stay as they are.
 *
 * @example
 * encodeLanePart("room:1"); // "room%3A1"
 */
export function encodeLanePart(id: string): string {
  return id.replace(reserved, encodeURIComponent);
}

/**
 * The chat or the thread that a part of a lane names; of a lane that a channel made by its own rules, the part as it
 * is.
 */
export function decodeLanePart(part: string): string {
  return part.replace(/%(?:25|3A|09)/g, decodeURIComponent);
}
