/** Orders of a shop: large ones are reported, small ones are not. */
import { escapeMarkdown } from "service-gateway/sdk";

interface Order {
  readonly number: number;
  readonly items: readonly { readonly name: string; readonly price: number }[];
}

export default function orders({ payload }: { readonly payload: Order }) {
  const total = payload.items.reduce((sum, item) => sum + item.price, 0);
  // Accepted, and nothing is sent.
  if (total < 100) return null;
  // The message is Markdown, and the names come from outside.
  const names = payload.items.map((item) => escapeMarkdown(item.name)).join(", ");
  return { message: `Order ${payload.number}: ${names}. Total: ${total.toFixed(2)}` };
}
