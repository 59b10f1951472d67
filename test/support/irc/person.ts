/** A person at an IRC client: writes and reads. */
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { vi } from "vitest";

export interface Person {
  /** Every line that the server sent. */
  readonly lines: readonly string[];
  raw(line: string): void;
  say(target: string, text: string): void;
  /** What a nick said to this person, or in a channel, oldest first. */
  heard(from: string, target?: string): readonly string[];
  /** Resolves with the lines that match, once there is one. */
  until(pattern: RegExp): Promise<string>;
  leave(): void;
}

export async function meet(port: number, nick: string, channels: readonly string[] = []): Promise<Person> {
  const socket: Socket = connect(port, "127.0.0.1");
  const lines: string[] = [];
  const raw = (line: string) => void socket.write(`${line}\r\n`);
  socket.on("error", () => {});
  createInterface({ input: socket }).on("line", (line) => {
    if (line.startsWith("PING")) raw(line.replace("PING", "PONG"));
    else lines.push(line);
  });
  const person: Person = {
    lines,
    raw,
    say: (target, text) => raw(`PRIVMSG ${target} :${text}`),
    // A channel is spelled as whoever came first named it.
    heard: (from, target = nick) =>
      lines.flatMap((line) => {
        const [, who, where, text] = /^:([^!]+)\S* PRIVMSG (\S+) :(.*)$/.exec(line) ?? [];
        return who === from && where?.toLowerCase() === target.toLowerCase() && text !== undefined ? [text] : [];
      }),
    until: (pattern) =>
      vi.waitFor(
        () =>
          lines.find((line) => pattern.test(line)) ??
          Promise.reject(new Error(`no line matches ${pattern}:\n${lines.join("\n")}`)),
        { timeout: 60_000, interval: 20 },
      ),
    leave: () => void socket.destroy(),
  };
  raw(`NICK ${nick}`);
  raw(`USER ${nick} 0 * :${nick}`);
  await person.until(/ (?:376|422) /);
  for (const channel of channels) {
    raw(`JOIN ${channel}`);
    await person.until(new RegExp(` 366 \\S+ ${channel} `, "i"));
  }
  return person;
}
