import { Check, Search } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useId, useMemo, useState } from "react";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { classNames } from "./class-names.ts";
import css from "./combobox.module.css";
import { type ComboOption, findOptions } from "./find-options.ts";
import { Popover, type TriggerProps } from "./popover.tsx";

interface ComboboxProps {
  readonly label: string;
  readonly value: string;
  /** Called when the list is open: writing the clocks of 400 zones takes 10 ms. */
  readonly listOptions: () => readonly ComboOption[];
  readonly onChange: (value: string) => void;
  readonly trigger: (props: TriggerProps) => ReactNode;
}

/** A long list in which one types to find. */
export function Combobox({ trigger, onChange, ...list }: ComboboxProps) {
  return (
    <Popover trigger={trigger} className={css.popover}>
      {(close) => (
        <ComboList
          {...list}
          onChoose={(value) => {
            close();
            onChange(value);
          }}
        />
      )}
    </Popover>
  );
}

interface ComboListProps extends Omit<ComboboxProps, "trigger" | "onChange"> {
  readonly onChoose: (value: string) => void;
}

function ComboList({ label, value, listOptions, onChoose }: ComboListProps) {
  const words = useWords(kitWords);
  const id = useId();
  const [query, setQuery] = useState("");
  const [active, setActive] = useState(0);
  const options = useMemo(() => listOptions(), [listOptions]);
  const found = findOptions(options, query);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setActive((active + step + found.length) % Math.max(1, found.length));
    const chosen = found[active];
    if (event.key !== "Enter" || chosen === undefined) return;
    // The focus goes back to the trigger, which this press would open again.
    event.preventDefault();
    onChoose(chosen.value);
  };
  return (
    <>
      <div className={css.search}>
        <Search className="i i-s" aria-hidden="true" />
        <input
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the list opens at a press and waits for words
          autoFocus
          role="combobox"
          aria-label={label}
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={found.length === 0 ? undefined : `${id}-${active}`}
          value={query}
          onChange={({ target }) => {
            setQuery(target.value);
            setActive(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div role="listbox" id={id} aria-label={label} className={css.list}>
        {found.map((option, index) => (
          <ComboRow
            key={option.value}
            id={`${id}-${index}`}
            option={option}
            isChosen={option.value === value}
            isActive={index === active}
            onChoose={() => onChoose(option.value)}
          />
        ))}
      </div>
      {found.length === 0 && <p className="hint pad">{words.noMatch}</p>}
    </>
  );
}

interface ComboRowProps {
  readonly id: string;
  readonly option: ComboOption;
  readonly isChosen: boolean;
  readonly isActive: boolean;
  readonly onChoose: () => void;
}

function ComboRow({ id, option, isChosen, isActive, onChoose }: ComboRowProps) {
  return (
    // The keys of the list are handled by the field above, which keeps the focus.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      id={id}
      role="option"
      aria-selected={isChosen}
      className={classNames(css.option, isActive && css.active)}
      onClick={onChoose}
    >
      {isChosen ? <Check className="i i-s" aria-hidden="true" /> : <span className="i i-s" />}
      <span>
        {option.label} {option.note !== undefined && <span className="muted">{option.note}</span>}
      </span>
      {option.end !== undefined && <span className="push xs muted num">{option.end}</span>}
    </div>
  );
}
