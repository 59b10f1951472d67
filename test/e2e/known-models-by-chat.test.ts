/** The same as `known-models.test.ts`, where no package of a vendor is installed: after a plain `npm install`. */
import { registerHooks } from "node:module";
import { afterAll, aroundEach, test } from "vitest";
import { inOwnTest } from "../support/own-test.ts";
import { answersByName, interceptProviders } from "./known-model-servers.ts";

aroundEach(inOwnTest);
interceptProviders();

const hooks = registerHooks({
  resolve(specifier, context, next) {
    if (/^@ai-sdk\/(?:anthropic|google|openai)$/.test(specifier))
      throw Object.assign(new Error(`Cannot find package '${specifier}' imported from here`), {
        code: "ERR_MODULE_NOT_FOUND",
      });
    return next(specifier, context);
  },
});
afterAll(() => hooks.deregister());

test.concurrent.each(["anthropic", "openai", "google"])("a model of %s and its key answer by chat completions", (id) =>
  answersByName(id, { byChat: true }),
);
