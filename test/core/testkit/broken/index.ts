/** Channels with one fault each, and the test of the contract that is meant for it. */
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { ChannelContractOptions } from "service-gateway/testkit";
import type { createPostbox } from "../postbox/channel.ts";

export interface Broken {
  readonly channel: ReturnType<typeof createPostbox>;
  /** Title of the test. */
  readonly caughtBy: string;
  /** Titles of tests of the same group that cannot pass either. */
  readonly alsoCaughtBy?: readonly string[];
  /** What the failure says. */
  readonly says: RegExp;
  readonly fixtures?: Partial<ChannelContractOptions["fixtures"]>;
  readonly functions?: ChannelContractOptions["functions"];
}

/** Each with the name of its file. */
export async function brokenChannels(): Promise<readonly (readonly [name: string, broken: Broken])[]> {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith(".ts") && file !== "index.ts");
  return await Promise.all(
    files.map(
      async (file) =>
        [
          basename(file, ".ts"),
          ((await import(join(import.meta.dirname, file))) as { readonly broken: Broken }).broken,
        ] as const,
    ),
  );
}
