/** What asks a model for `models test`: the running gateway, or this command itself if there is none. */
import type { ModelTest, TestModel } from "../../agents/turn/model-test.ts";
import { HostError } from "../../contract/errors.ts";
import { visibleLine } from "../../log/visible.ts";
import type { CommandContext } from "../context.ts";
import type { RunningGateway } from "../running-gateway.ts";

/** Longer than the gateway waits for a model. */
const patienceMs = 150_000;

export interface Tester {
  readonly test: TestModel;
  close(): Promise<void>;
}

interface Answer {
  readonly test?: ModelTest;
  readonly error?: string;
  readonly hint?: string;
}

function byGateway(gateway: RunningGateway): Tester {
  return {
    async test(asked) {
      const answer = await gateway.call("POST", "/gateway/models/test", { body: asked, patienceMs });
      if (answer === null)
        throw new HostError("gateway_silent", { url: gateway.url, reason: "it did not answer in time" });
      const { test, error = "it gave no reason", hint = "" } = answer.body as Answer;
      if (test === undefined) throw new HostError("gateway_refused", { url: gateway.url, reason: error, fix: hint });
      return test;
    },
    close: async () => {},
  };
}

async function byItself(context: CommandContext): Promise<Tester> {
  // Imported here, because a running gateway has loaded all of it.
  const { openModelTest } = await import("../../gateway/model-test.ts");
  const loaded = await context.load();
  const stateDirectory = await context.stateDirectory();
  const store = await context.openState({ create: true });
  try {
    const { test, failed, close } = await openModelTest({
      ...{ loaded, store, stateDirectory, environment: context.env, now: context.now },
    });
    for (const line of failed) context.terminal.note(visibleLine(line, 500));
    return { test, close: () => close().finally(() => store.close()) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

export async function openTester(context: CommandContext): Promise<Tester> {
  const gateway = await context.gateway();
  return gateway === null ? await byItself(context) : byGateway(gateway);
}
