/** Finds what is wrong with the servers of an agent that the schema cannot find. */
import type { PluginDefinition } from "service-gateway/sdk";
import type { Servers } from "./section.ts";

type Check = NonNullable<NonNullable<PluginDefinition["section"]>["check"]>;
type Found = Awaited<ReturnType<Check>>[number];
type Address = Pick<Servers[string], "command" | "url" | "type" | "headers">;

export function checkServers(servers: Servers): readonly Found[] {
  return Object.entries(servers).flatMap(([name, server]): readonly Found[] => {
    const problem = serverProblem(server);
    if (problem !== undefined) return [{ path: [name], ...problem }];
    if (!sendsKeyInTheClear(server)) return [];
    const message = "sends the headers of the server, such as a key, without encryption to another machine";
    return [{ path: [name, "url"], message, hint: "Use https, or a server on this machine.", warning: true }];
  });
}

/** Why a server cannot be reached. It is left out then, so that no other one is taken for it. */
export function serverProblem({ command, url, type }: Address): Pick<Found, "message" | "hint"> | undefined {
  if (command === undefined && url === undefined)
    return {
      message: "has neither a command nor a url",
      hint: "Set command to the program that speaks MCP, or url to the address of the server.",
    };
  if (command !== undefined && url !== undefined) return { message: "has both a command and a url", hint: "Remove one of them." };
  if (type === undefined || (type === "stdio") === (command !== undefined)) return undefined;
  const message = `has the type ${type}, which does not fit its ${command === undefined ? "url" : "command"}`;
  return { message, hint: "Remove type, or correct it." };
}

function sendsKeyInTheClear({ url = "", headers = {} }: Address): boolean {
  const address = URL.parse(url);
  if (address?.protocol !== "http:" || Object.keys(headers).length === 0) return false;
  return !/^(?:127(?:\.\d{1,3}){3}|\[::1\]|(?:.*\.)?localhost)$/.test(address.hostname);
}
