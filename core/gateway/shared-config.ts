/** Keeps the file of this node equal to the configuration in the store, while the gateway runs. */
import { reasonOf } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import type { SharedConfig } from "../stores/index.ts";

/** An edit passes two of these waits until another node knows it, and that takes less than two seconds. */
const everyMs = 700;

export type ConfigSync = () => Promise<"pulled" | undefined>;

/** Compares once, and logs what that changed. */
export function createConfigSync({ sync }: SharedConfig, file: string, log: Pick<Log, "info" | "warn">): ConfigSync {
  let reported: string | undefined;
  return async () => {
    const { what, copy } = await sync();
    if (copy !== undefined)
      log.warn(
        { file, kept: copy },
        "the configuration in the store replaced an edit of this file, which is kept under another name",
      );
    if (what === "invalid" && reported !== what)
      log.warn({ file }, "the configuration has an error, so the edit is not shared with other nodes");
    if (what === "pushed") log.info({ file }, "the edited configuration is shared with all nodes");
    reported = what;
    return what === "pulled" ? what : undefined;
  };
}

/** The watch of the file applies what is written to it. */
export function followSharedConfig(sync: ConfigSync, log: Pick<Log, "warn">, cleanup: AsyncDisposableStack): void {
  let failed = false;
  let open = true;
  let timer: NodeJS.Timeout;
  const plan = () => {
    if (open) timer = setTimeout(() => void look(), everyMs).unref();
  };
  const look = async () => {
    try {
      await sync();
      failed = false;
    } catch (error) {
      if (!failed && open)
        log.warn({ error: reasonOf(error) }, "the configuration could not be compared with the one in the store");
      failed = true;
    }
    plan();
  };
  plan();
  cleanup.defer(() => {
    open = false;
    clearTimeout(timer);
  });
}
