import { useSettings } from "../settings/settings.ts";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { classNames } from "./class-names.ts";
import css from "./counter.module.css";

const NEAR = 0.97;

interface CounterProps {
  readonly count: number;
  readonly max: number;
  /** The unit of the platform, where it is not characters. */
  readonly unit?: string | undefined;
}

/** Counts what is written. It never cuts a text: it says by how much it is too long. */
export function Counter({ count, max, unit }: CounterProps) {
  const words = useWords(kitWords);
  const { language } = useSettings();
  const numbers = new Intl.NumberFormat(language);
  const isOver = count > max;
  return (
    <span className={classNames(css.counter, isOver ? css.over : count >= max * NEAR && css.near)}>
      {numbers.format(count)}/{numbers.format(max)}
      {unit !== undefined && ` ${unit}`}
      {isOver && `, ${words.over(numbers.format(count - max))}`}
    </span>
  );
}
