/**
 * Sends a request to a public address only for its effect, such as confirming a subscription. The response is not read.
 */
import { onEvent } from "../listeners/index.ts";
import type { PublicAgentOptions } from "./public-agent.ts";

interface RequestOptions extends PublicAgentOptions {
  readonly timeoutMs?: number;
}

/**
 * Sends the request. Throws unless the response is 2xx; a redirect is a failure. Connects to public addresses only,
 * whatever the name resolves to.
 */
export async function requestPublic(
  url: string,
  { timeoutMs = 10_000, ...options }: RequestOptions = {},
): Promise<void> {
  // Loaded on demand, because few gateways use a platform that needs this.
  const [{ request }, { createPublicAgent }] = await Promise.all([import("undici"), import("./public-agent.ts")]);
  const dispatcher = createPublicAgent(options);
  try {
    const answer = await request(url, { dispatcher, signal: AbortSignal.timeout(timeoutMs) });
    onEvent(answer.body, "error", { source: "the platform", handle() {} });
    answer.body.destroy();
    if (answer.statusCode < 200 || answer.statusCode > 299)
      throw new Error(`the platform answered ${answer.statusCode}`);
  } finally {
    await dispatcher.destroy();
  }
}
