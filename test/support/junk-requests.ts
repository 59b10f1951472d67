/** Requests whose bodies are no message: each kind once, then 10,000 in a row over a few connections. */
import { Agent, request } from "node:http";
import { burst, junkTexts } from "./junk.ts";

const connections = 16;

/** How many answers there were of each status; `cut`: the server closed the connection without one. */
export async function sendJunkRequests(
  url: string,
  {
    method = "POST",
    headers = {},
  }: { readonly method?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Readonly<Record<string, number>>> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const statuses: Record<string, number> = {};
  const send = (body: string) =>
    new Promise<void>((resolve) => {
      const count = (status: number | string) => {
        statuses[status] = (statuses[status] ?? 0) + 1;
        resolve();
      };
      const bytes = Buffer.from(body);
      const sent = request(
        url,
        { method, agent, headers: { ...headers, "content-length": bytes.length } },
        (response) => {
          response.resume().on("end", () => count(response.statusCode ?? 0));
          response.on("error", () => count("cut"));
        },
      );
      sent.on("error", () => count("cut"));
      sent.end(bytes);
    });
  for (const body of junkTexts) await send(body);
  let left = burst;
  const run = async (): Promise<void> => {
    while (left-- > 0) await send("null");
  };
  await Promise.all(Array.from({ length: connections }, run));
  agent.destroy();
  return statuses;
}
