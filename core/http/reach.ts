/** Determines who can reach an address that the server binds. */

const onlyHere = /^(127(\.\d{1,3}){3}|::1|localhost)$/;
/** Addresses that mean all addresses of the machine. */
const every = /^(0{1,3}(\.0{1,3}){3}|::|\[::\]|0|\*)$/;

export const isOnlyHere = (host: string): boolean => onlyHere.test(host);

/** A warning about an address that other machines can reach; `undefined` if only this machine can. */
export function reachWarning(host: string): string | undefined {
  if (isOnlyHere(host)) return undefined;
  return every.test(host)
    ? "the gateway listens on all addresses of this machine, so every connected network can reach it"
    : "the gateway listens on an address that other machines can reach";
}
