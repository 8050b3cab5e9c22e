import { classNames } from "./class-names.ts";
import css from "./meter.module.css";

interface MeterProps {
  /** What the bar says, for screen readers. */
  readonly label: string;
  readonly used: number;
  readonly reserved?: number;
  readonly limit: number;
  readonly large?: boolean;
}

/** A bar of what is used up and, hatched, of what is promised already. */
export function Meter({ label, used, reserved = 0, limit, large = false }: MeterProps) {
  const width = (count: number) => `${limit === 0 ? 0 : (100 * count) / limit}%`;
  const isFull = used + reserved >= limit;
  return (
    <div
      role="img"
      aria-label={label}
      className={classNames(css.meter, large && css.large, isFull && css.isFull)}
    >
      <span className={css.used} style={{ width: width(used) }} />
      <span className={css.reserved} style={{ width: width(reserved) }} />
    </div>
  );
}
