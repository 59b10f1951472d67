/** What a platform posts to the bot: received on every node, and judged before anything else. */
import { realWait } from "../../host/played-clock.ts";
import { type Bench, shown, started } from "../bench.ts";
import type { Rule } from "../rule.ts";

async function receivesWhileStandingBy(bench: Bench): Promise<void> {
  if ((await bench.ending(Promise.resolve(bench.connection.standBy?.()))) === "late")
    throw new Error("standBy does not end in time.");
  await bench.platform.write("posted to a node that stands by");
  await bench.until(
    () => bench.messages().some(({ inbound }) => inbound.text.includes("a node that stands by")),
    () =>
      "The platform has posted a message to a node that stands by, and it was not received. Call account.route in " +
      "open, or open your own listener in standBy, and hand what is posted to account.receive.",
  );
  await started(bench);
  await bench.platform.write("posted to the node that serves");
  await bench.until(
    () => bench.messages().some(({ inbound }) => inbound.text.includes("the node that serves")),
    () => "start follows standBy, but a message that is posted after it is not received.",
  );
}

/** What anybody can post who knows the address. */
const forgeries = ["", "{}", "[]", "null", '{"challenge":"abc","type":"url_verification"}', "payload=%7B%7D"];

async function refusesStrangers(bench: Bench): Promise<void> {
  await started(bench);
  for (const { path, methods } of bench.test.routes.reports())
    for (const method of methods)
      for (const body of forgeries) {
        const response = await fetch(`${bench.postingUrl}${path}`, { method, ...(method === "GET" ? {} : { body }) });
        await response.arrayBuffer();
        if (response.status < 400)
          throw new Error(
            `${method} ${path} with the body ${shown(body)} and without a secret or a signature is answered ` +
              `${response.status}. Judge each caller with request.judge before anything else.`,
          );
      }
  await realWait(50);
  if (bench.test.received.length > 0)
    throw new Error(`What a stranger posted was received: ${shown(bench.test.received[0]?.raw)}.`);
}

async function isPostedTo({ test, platform }: Bench): Promise<void> {
  const [route] = test.routes.reports();
  if (route !== undefined && platform.postTo === undefined)
    throw new Error(
      `The account answers at ${route.path}, but the platform has no postTo(). Let it post its events there, and ` +
        "list posts in platform.can, so that the rules of posted events are tested.",
    );
}

export const postedRules: readonly Rule[] = [
  { title: "posted > the platform posts to the addresses of the account", needs: [], run: isPostedTo },
  { title: "posted > a message is received while standing by", needs: ["posts"], run: receivesWhileStandingBy },
  { title: "posted > a stranger who knows the address is refused", needs: ["posts"], run: refusesStrangers },
];
