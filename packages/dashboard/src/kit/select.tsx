import { ChevronDown, type LucideIcon } from "lucide-react";
import type { SelectHTMLAttributes } from "react";
import { classNames } from "./class-names.ts";
import css from "./select.module.css";

export interface SelectOption {
  readonly value: string;
  readonly label: string;
  readonly disabled?: boolean;
}

interface SelectProps extends Omit<SelectHTMLAttributes<HTMLSelectElement>, "onChange" | "value"> {
  /** Name for screen readers, and in front of the value of a filter that is set. */
  readonly label: string;
  readonly value: string;
  readonly options: readonly SelectOption[];
  readonly onChange: (value: string) => void;
  readonly icon?: LucideIcon | undefined;
  /** A filter that leaves something out: in the colour of a selection, with its name. */
  readonly isSet?: boolean;
  /** As wide as its column, with the border of a field. */
  readonly edge?: boolean;
}

/**
 * A list of values. The browser's own list opens, which every reader and every phone knows; what is
 * seen while it is closed is drawn around it.
 */
export function Select(props: SelectProps) {
  const { label, value, options, onChange, icon: Icon, isSet, edge, className, ...rest } = props;
  return (
    <span
      className={classNames(
        css.select,
        isSet === true && css.set,
        edge === true && css.edge,
        className,
      )}
    >
      {Icon && <Icon className="i" aria-hidden="true" />}
      {isSet === true && <span aria-hidden="true">{label}</span>}
      <span className="clip" aria-hidden="true">
        {options.find((option) => option.value === value)?.label}
      </span>
      <ChevronDown className={classNames("i i-s", css.chevron)} aria-hidden="true" />
      <select
        aria-label={label}
        {...rest}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
      </select>
    </span>
  );
}
