import { X } from "lucide-react";
import { type KeyboardEvent, useId, useState } from "react";
import { classNames } from "../../kit/class-names.ts";
import { Counter } from "../../kit/counter.tsx";
import { FieldError, Input } from "../../kit/field.tsx";
import { useWords } from "../../words/use-words.ts";
import { composeWords } from "./compose-words.ts";
import css from "./compose.module.css";

interface TagFieldProps {
  readonly tags: readonly string[];
  readonly max: number | undefined;
  /** Whether a tag with a space counts two characters more. */
  readonly quotesCount: boolean;
  readonly error: string | undefined;
  readonly onChange: (tags: readonly string[]) => void;
}

/** The length of all tags as the platform counts them: with the commas between them. */
function tagsLength(tags: readonly string[], quotesCount: boolean): number {
  const commas = Math.max(0, tags.length - 1);
  return tags.reduce(
    (sum, tag) => sum + tag.length + (quotesCount && tag.includes(" ") ? 2 : 0),
    commas,
  );
}

/** Enter or a comma ends a tag; the key to delete takes the last one back. */
export function TagField({ tags, max, quotesCount, error, onChange }: TagFieldProps) {
  const words = useWords(composeWords);
  const [text, setText] = useState("");
  const id = useId();
  const add = () => {
    const tag = text.trim().replace(/^#/, "");
    setText("");
    if (tag !== "" && !tags.includes(tag)) onChange([...tags, tag]);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Backspace" && text === "") onChange(tags.slice(0, -1));
    if (event.key !== "Enter" && event.key !== ",") return;
    event.preventDefault();
    add();
  };
  return (
    <div className={css.fieldset}>
      <label className={css.label} htmlFor={id}>
        {words.tagsLabel}
      </label>
      <div className="row wrap">
        <Chips tags={tags} onChange={onChange} />
        <Input
          id={id}
          data-place="tags"
          className={css.addTag}
          placeholder={words.addTag}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={onKeyDown}
          onBlur={add}
        />
      </div>
      <span className="row hint">
        {error !== undefined && <FieldError>{error}</FieldError>}
        {max !== undefined && (
          <span className="push">
            <Counter count={tagsLength(tags, quotesCount)} max={max} />
          </span>
        )}
      </span>
    </div>
  );
}

function Chips({ tags, onChange }: Pick<TagFieldProps, "tags" | "onChange">) {
  const words = useWords(composeWords);
  return tags.map((tag) => (
    <span key={tag} className={classNames("tag", css.tag)}>
      <span className="clip">{tag}</span>
      <button
        type="button"
        aria-label={words.removeTag(tag)}
        onClick={() => onChange(tags.filter((each) => each !== tag))}
      >
        <X className="i i-s" aria-hidden="true" />
      </button>
    </span>
  ));
}
