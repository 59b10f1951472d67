/** The table of methods. As on the platform, names are case-insensitive. */
import type { Method } from "../core.ts";
import { chatMethods } from "./chats.ts";
import { feedMethods } from "./feed.ts";
import { mediaMethods } from "./media.ts";
import { menuMethods } from "./menu.ts";
import { messageMethods } from "./messages.ts";

export interface NamedMethod {
  readonly name: string;
  readonly run: Method;
}

export const methods: ReadonlyMap<string, NamedMethod> = new Map(
  Object.entries({ ...feedMethods, ...messageMethods, ...mediaMethods, ...chatMethods, ...menuMethods }).map(
    ([name, run]) => [name.toLowerCase(), { name, run }],
  ),
);
