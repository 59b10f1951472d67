/** What a store adds on which several nodes work. A store of one process lacks these methods. */
export interface SeveralNodes {
  /**
   * Milliseconds for which this process surely holds its lease, by its own monotonic clock; 0 if it may have lost it. Every write of a run
   * is refused (`lease_lost`) once the lease has ended. A send cannot be refused, so it must not begin with less left than it may take.
   */
  leaseLeft?(): number;
  /**
   * Calls the listener with lanes that may have work which this process did not accept: events of another node or of a command, or a unit
   * that a node without a lease left. A lane may be reported again while nothing of it runs. Returns a function that ends it.
   */
  watch?(listener: (lanes: readonly string[]) => void): () => void;
}
