/** `/approve` and `/deny`: an owner's answer to a tool that asks first, typed or by a button. */
import type { CommandDefinition } from "../../sdk/contract.ts";
import type { Approvals } from "../tools/approvals.ts";

export function approvalCommands(approvals: Pick<Approvals, "answer">): readonly CommandDefinition[] {
  return [
    {
      name: "approve",
      summary: "let a tool run that asks for it",
      args: "CODE [session]",
      role: "owner",
      control: true,
      run({ args, inbound }) {
        const [id = "", scope = "once"] = args.split(/\s+/);
        if (id === "" || (scope !== "once" && scope !== "session"))
          return "Write /approve and the code of the request, with `session` after it to allow the tool until /new.";
        return approvals.answer(id, scope, inbound);
      },
    },
    {
      name: "deny",
      summary: "refuse a tool that asks",
      args: "CODE",
      role: "owner",
      control: true,
      run: ({ args, inbound }) =>
        args === "" ? "Write /deny and the code of the request." : approvals.answer(args, "deny", inbound),
    },
  ];
}
