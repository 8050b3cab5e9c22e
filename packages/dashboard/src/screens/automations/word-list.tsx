import { X } from "lucide-react";
import { useState } from "react";
import { classNames } from "../../kit/class-names.ts";
import { Input } from "../../kit/field.tsx";
import { langOf } from "../../posts/lang-of.ts";
import { useWords } from "../../words/use-words.ts";
import { automationsWords } from "./automations-words.ts";
import css from "./automations.module.css";
import { withWords } from "./rule-draft.ts";

interface WordListProps {
  /** Of the field in which a word is added. */
  readonly label: string;
  readonly field?: string;
  readonly words: readonly string[];
  readonly isExcluded?: boolean;
  readonly onChange: (words: readonly string[]) => void;
}

/** Words that can be removed, and a field for more: `Enter`, a comma and leaving it add a word. */
export function WordList({ label, field, words: chosen, isExcluded, onChange }: WordListProps) {
  const words = useWords(automationsWords);
  const [typed, setTyped] = useState("");
  const add = (text: string) => {
    if (text.trim() !== "") onChange(withWords(chosen, text));
    setTyped("");
  };
  return (
    <>
      {chosen.map((word) => (
        <span key={word} className={classNames(css.word, isExcluded === true && css.excluded)}>
          <span lang={langOf(word)}>{word}</span>
          <button
            type="button"
            aria-label={words.removeWord(word)}
            onClick={() => onChange(chosen.filter((other) => other !== word))}
          >
            <X className="i i-s" aria-hidden="true" />
          </button>
        </span>
      ))}
      <Input
        className={css.add}
        aria-label={label}
        placeholder={label}
        data-fault={field}
        maxLength={100}
        value={typed}
        onChange={({ target }) =>
          target.value.endsWith(",") ? add(target.value) : setTyped(target.value)
        }
        onBlur={() => add(typed)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
          event.preventDefault();
          add(typed);
        }}
      />
    </>
  );
}
