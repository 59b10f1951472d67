/** Whether stored data names a person or the direct chat with them. */
import type { Json } from "../../contract/types.ts";
import type { Person } from "../../state/removals.ts";

/** Deeper data is not the gateway's own. */
const mostDepth = 5;

/**
 * Whether the value, or an object in it, is an address of the person. Lists are not looked through: they are often of
 * many people.
 */
export function namesPerson(value: Json, person: Person, depth = 0): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value) || depth > mostDepth) return false;
  const members = value as { readonly [key: string]: Json };
  return isPlace(members, person) || Object.values(members).some((inner) => namesPerson(inner, person, depth + 1));
}

function isPlace({ channel, chat, id, senderId, to }: { readonly [key: string]: Json }, person: Person): boolean {
  if (channel !== person.channel) return false;
  // The recipient of a webhook may have a topic behind the chat.
  return [chat, id, senderId, to].includes(person.id) || (typeof to === "string" && to.startsWith(`${person.id}:`));
}
