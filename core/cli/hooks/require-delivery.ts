/** Finds a delivery by its id, the beginning of one, or `last`, for a command. */
import { HostError } from "../../contract/errors.ts";
import { type Delivery, findDelivery } from "../../reports/deliveries.ts";
import type { Store } from "../../state/store.ts";

/** Throws `delivery_none` and `delivery_unknown`. Chat messages are not found here. */
export async function requireDelivery(store: Store, wanted: string): Promise<Delivery> {
  const found = await findDelivery(store, wanted);
  if (found !== null) return found;
  throw wanted === "last" ? new HostError("delivery_none") : new HostError("delivery_unknown", { event: wanted });
}
