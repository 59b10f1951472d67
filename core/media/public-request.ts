/** Requests a public address for its effect alone, such as the confirmation of a subscription. The answer is not read. */
import type { PublicAgentOptions } from "./public-agent.ts";

interface RequestOptions extends PublicAgentOptions {
  readonly timeoutMs?: number;
}

/** Throws unless the answer is 2xx: a redirect is a failure. Only public addresses are connected to, whatever the name resolves to. */
export async function requestPublic(url: string, { timeoutMs = 10_000, ...options }: RequestOptions = {}): Promise<void> {
  // Loaded when it is needed: hardly any gateway has a platform that asks for this.
  const [{ request }, { createPublicAgent }] = await Promise.all([import("undici"), import("./public-agent.ts")]);
  const dispatcher = createPublicAgent(options);
  try {
    const answer = await request(url, { dispatcher, signal: AbortSignal.timeout(timeoutMs) });
    answer.body.on("error", () => {}).destroy();
    if (answer.statusCode < 200 || answer.statusCode > 299) throw new Error(`the platform answered ${answer.statusCode}`);
  } finally {
    await dispatcher.destroy();
  }
}
