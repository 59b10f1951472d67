/** Panels of plugins: their entries, and what operators do with them. */

import { HttpProblem, includesRole, type OwnAnswer, type OwnRequest } from "../../../http/index.ts";
import { actInPanel, PanelProblem, readPanels } from "../../console/panels.ts";
import { optionalTextIn, textIn } from "./body.ts";
import type { V1Deps } from "./deps.ts";
import { carryOut } from "./recorded.ts";

export async function listPanels({ panels }: V1Deps): Promise<OwnAnswer> {
  return { body: { panels: await readPanels(panels()) } };
}

/** The role that an act needs is that of the plugin. */
export async function pressInPanel(deps: V1Deps, request: OwnRequest): Promise<OwnAnswer> {
  const { plugin = "", panel = "", act = "" } = request.params;
  const entry = textIn(request.body, "entry");
  const version = optionalTextIn(request.body, "version");
  const found = await actInPanel(deps.panels(), { plugin, panel, act, entry, version }).catch((error: unknown) => {
    if (!(error instanceof PanelProblem)) throw error;
    throw new HttpProblem(error.isUnknown ? "not_found" : "idempotency_conflict", error.message);
  });
  if (!includesRole(request.caller.role, found.role))
    throw new HttpProblem("role_too_low", `This needs the role ${found.role}.`);
  return await carryOut(deps, request, { act: `${plugin}_${panel}_${act}`, subject: entry }, async () => {
    const { ok, text } = await found.run();
    return ok ? { body: { ok, text } } : { status: 409, body: { ok, error: text, code: "idempotency_conflict" } };
  });
}
