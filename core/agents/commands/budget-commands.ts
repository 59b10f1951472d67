/** The commands that show and raise budgets. */
import type { Inbound } from "../../contract/index.ts";
import type { CommandCall, CommandDefinition } from "../../sdk/contract.ts";
import type { Balance } from "../spending/applied.ts";
import { askerOf } from "../spending/asker.ts";
import type { Unit } from "../spending/limits.ts";
import type { Period } from "../spending/periods.ts";
import type { Spending } from "../spending/spending.ts";
import { periodWords, renderAmount, renderShare } from "../spending/wording.ts";

const form =
  "Write `/budget add 2 today` for US dollars, or `/budget add 50000 tokens today`; `month` instead of " +
  "`today` for this month.";

interface Addition {
  readonly amount: number;
  readonly unit: Unit;
  readonly period: Period;
}

/** `add 2 today`, `add $2`, `add 50000 tokens month`. */
function parseAddition(args: string): Addition | undefined {
  const [, dollar, number = "", word = "", period = "today"] =
    /^add\s+(\$)?(\d{1,12}(?:\.\d{1,6})?)(?:\s+(usd|dollars?|tokens?))?(?:\s+(today|day|month))?$/i.exec(args.trim()) ??
    [];
  const amount = Number(number);
  const isTokens = /^tokens?$/i.test(word);
  if (number === "" || amount <= 0 || (isTokens && (dollar !== undefined || !Number.isInteger(amount))))
    return undefined;
  return { amount, unit: isTokens ? "tokens" : "usd", period: period.toLowerCase() === "month" ? "month" : "day" };
}

const owners: Readonly<Record<Balance["limit"]["scope"], string>> = {
  agent: "this agent",
  all: "all agents",
  sender: "your messages",
};

function balanceLine({ limit, used }: Balance): string {
  const percent = limit.total === 0 ? 100 : Math.round((100 * used) / limit.total);
  return (
    `- ${owners[limit.scope]}, ${periodWords[limit.period]}: ` +
    `${renderShare(used, limit.total, limit.unit)} (${percent} %)`
  );
}

export function budgetCommands(options: {
  readonly spending: Pick<Spending, "balances" | "add" | "today">;
  readonly isOwner: (inbound: Inbound) => Promise<boolean>;
}): readonly CommandDefinition[] {
  const { spending, isOwner } = options;

  /** Where no budget says it. */
  async function usedToday({ inbound, route }: CommandCall, owner: boolean): Promise<string> {
    const { tokens, usd } = await spending.today(askerOf(inbound, route), owner ? "everyone" : "asker");
    const cost = usd > 0 ? `, ${renderAmount(usd, "usd")}` : "";
    const whose = owner ? "All agents" : "Your messages";
    return (
      `${whose}, today: ${renderAmount(tokens, "tokens")}${cost}. There is no budget ` +
      `here${owner ? "" : " that you can see"}.`
    );
  }

  async function usage(call: CommandCall): Promise<string> {
    const { inbound, route } = call;
    const balances = await spending.balances(askerOf(inbound, route));
    // Only owners may see what others spend.
    const owner = await isOwner(inbound);
    const shown = owner ? balances : balances.filter(({ limit }) => limit.scope === "sender");
    return shown.length === 0 ? await usedToday(call, owner) : ["**Budget**", ...shown.map(balanceLine)].join("\n");
  }

  async function budget({ args, inbound, route }: CommandCall): Promise<string> {
    const addition = parseAddition(args);
    if (addition === undefined)
      return args.trim() === "" ? `${await usage({ name: "usage", args, inbound, route })}\n\n${form}` : form;
    const raised = await spending.add(askerOf(inbound, route), addition);
    const added = renderAmount(addition.amount, addition.unit);
    if (raised.length === 0)
      return (
        `No budget in ${addition.unit === "usd" ? "US dollars" : "tokens"} applies here ` +
        `${periodWords[addition.period]}.`
      );
    return [`Added ${added} ${periodWords[addition.period]}:`, ...raised.map(balanceLine)].join("\n");
  }

  return [
    {
      name: "usage",
      summary: "show today's usage, and how much of the budget is used",
      role: "allowed",
      control: true,
      run: usage,
    },
    {
      name: "budget",
      summary: "add to a budget for today or this month",
      args: "[add AMOUNT [tokens] [today|month]]",
      role: "owner",
      control: true,
      run: budget,
    },
  ];
}
