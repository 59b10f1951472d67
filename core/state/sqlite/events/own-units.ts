/**
 * Rows of units that were new when this process took them, so that writes for them need no look-up. The entries are
 * only hints: the writer changes a row only if it belongs to that unit and is running.
 */
interface OwnUnit {
  readonly row: number;
  /** How many rows the unit has added to the outbox. */
  parts: number;
}

export interface OwnUnits {
  took(unitId: string, row: number): void;
  /** The unit's row; `null` if the writer must look it up. */
  rowOf(unitId: string): number | null;
  partsAdded(unitId: string, parts: number): void;
  /** Whether all outbox rows of the unit have been sent; false if that is unknown. */
  hasSentAll(unitId: string, sent: 0 | 1): boolean;
  forget(unitId: string): void;
}

export function createOwnUnits(): OwnUnits {
  const units = new Map<string, OwnUnit>();
  return {
    took: (unitId, row) => void units.set(unitId, { row, parts: 0 }),
    rowOf: (unitId) => units.get(unitId)?.row ?? null,
    partsAdded(unitId, parts) {
      const unit = units.get(unitId);
      if (unit !== undefined) unit.parts += parts;
    },
    hasSentAll: (unitId, sent) => units.get(unitId)?.parts === sent,
    forget: (unitId) => void units.delete(unitId),
  };
}
