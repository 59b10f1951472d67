/** The name of the bot on one connection, at a server where another may have the name that it wants. */
import type { LineProtocol } from "./protocol.ts";

export interface BotName {
  /** The name that the bot has, or that it asked for last. */
  current(): string;
  /** What the operator should know: that the bot is not called as it should be. */
  problem(): string | undefined;
  /** Whether the bot has this name. */
  isOwn(name: string): boolean;
  /** The server calls the bot so now. */
  changed(to: string): void;
  /** The name is taken: asks for a similar one. */
  taken(): void;
  /** Asks for the wanted name, unless the bot has it. */
  askBack(): void;
  /** A name is free. Asks for it if it is the wanted one. */
  left(name: string): void;
}

/** `write` sends the line of `ask`. `fold` is the form in which names compare. */
export function createBotName(
  { wanted, ask }: NonNullable<LineProtocol["name"]>,
  { write, fold }: { write(line: string): void; fold(name: string): string },
): BotName {
  let current = wanted;
  let attempts = 0;
  const isSame = (one: string, other: string) => fold(one) === fold(other);
  const askBack = () => {
    if (!isSame(current, wanted)) write(ask(wanted));
  };
  return {
    current: () => current,
    problem: () =>
      isSame(current, wanted)
        ? undefined
        : `The bot is called ${current} at the moment, because it did not get the name ${wanted}.`,
    isOwn: (name) => isSame(name, current),
    changed(to) {
      current = to;
    },
    taken() {
      attempts += 1;
      // Servers cut longer names, many at 30 characters, some at nine: the same name would be asked for again.
      current = attempts === 1 ? `${wanted.slice(0, 28)}_` : `${wanted.slice(0, 5)}_${attempts}`;
      write(ask(current));
    },
    askBack,
    left(name) {
      if (isSame(name, wanted)) askBack();
    },
  };
}
