import { Undo2 } from "lucide-react";
import { Button } from "../../kit/button.tsx";
import { Counter } from "../../kit/counter.tsx";
import { Field, FieldError, Input, Switch, TextArea } from "../../kit/field.tsx";
import { Segments } from "../../kit/segments.tsx";
import { accountNameOf } from "../../posts/account-name.ts";
import { AccountWho } from "../../posts/account-who.tsx";
import { postWords } from "../../posts/post-words.ts";
import { useSettings } from "../../settings/settings.ts";
import { useWords } from "../../words/use-words.ts";
import { composeWords } from "./compose-words.ts";
import css from "./compose.module.css";
import { fieldsOf, lengthFor, useComposition, type Writer } from "./composition.ts";
import { type OwnPart, textFor, withOwn, withoutOwn } from "./draft.ts";
import { faultWords } from "./fault-words.ts";
import { faultsOnTab, type Place } from "./faults.ts";
import { TagField } from "./tag-field.tsx";
import { useNames } from "./use-names.ts";

interface PanelProps {
  readonly writer: Writer;
}

/** What one account gets in place of what all get. */
export function OwnPartPanel({ writer }: PanelProps) {
  const words = useWords(composeWords);
  const { draft, change, openTab } = useComposition();
  const fields = fieldsOf(writer);
  const { id, username, platform } = writer;
  const useAll = () => {
    change((before) => withoutOwn(before, id));
    openTab("all");
  };
  return (
    <div className={css.own}>
      <div className="row">
        <AccountWho id={id} username={username} platform={platform} below={words.onlyThisAccount} />
        {draft.own[id] !== undefined && (
          <Button kind="ghost" small icon={Undo2} className="push" onClick={useAll}>
            {words.useWhatAllGet}
          </Button>
        )}
      </div>
      {fields.includes("title") && <TitleField writer={writer} />}
      <div className={css.pair}>
        {fields.includes("privacy") && <PrivacyField writer={writer} />}
        {fields.includes("tags") && <Tags writer={writer} />}
      </div>
      <OwnText writer={writer} />
    </div>
  );
}

function useOwn({ id }: Writer) {
  const { draft, change } = useComposition();
  return {
    part: draft.own[id] ?? {},
    set: (changes: OwnPart) => change((before) => withOwn(before, id, changes)),
  };
}

/** The words of the first fault of a field, as its error. */
function useFieldError({ id }: Writer, place: Place): string | undefined {
  const { faults } = useComposition();
  const naming = useNames();
  const fault = faultsOnTab(faults, id).find((each) => each.place === place);
  return fault && faultWords(fault, naming).join(" ").trim();
}

function TitleField({ writer }: PanelProps) {
  const words = useWords(composeWords);
  const { part, set } = useOwn(writer);
  const { title = "" } = part;
  const { max } = writer.rules.title;
  return (
    <Field
      label={words.title}
      error={useFieldError(writer, "title")}
      counter={max !== undefined && <Counter count={title.length} max={max} />}
    >
      {(control) => (
        <Input
          {...control}
          data-place="title"
          value={title}
          onChange={({ target }) => set({ title: target.value })}
        />
      )}
    </Field>
  );
}

const PRIVACIES = ["public", "unlisted", "private"] as const;

function PrivacyField({ writer }: PanelProps) {
  const words = useWords(composeWords);
  const { privacies } = useWords(postWords);
  const { part, set } = useOwn(writer);
  const error = useFieldError(writer, "privacy");
  const offered = PRIVACIES.filter((each) => writer.rules.privacy.includes(each));
  return (
    <div className={css.fieldset} data-place="privacy" tabIndex={-1}>
      <span className={css.label}>{words.privacy}</span>
      <Segments
        label={words.privacy}
        value={part.privacy ?? (writer.rules.privacyNoDefault === true ? "" : "public")}
        segments={offered.map((value) => ({ value, label: privacies[value] }))}
        onChange={(value) => set({ privacy: value === "" ? undefined : value })}
      />
      {error !== undefined && <FieldError>{error}</FieldError>}
    </div>
  );
}

function Tags({ writer }: PanelProps) {
  const { part, set } = useOwn(writer);
  return (
    <TagField
      tags={part.tags ?? []}
      max={writer.rules.tags.maxTotal}
      quotesCount={writer.rules.tags.quotesCountForSpaces === true}
      error={useFieldError(writer, "tags")}
      onChange={(tags) => set({ tags: tags.length === 0 ? undefined : [...tags] })}
    />
  );
}

function OwnText({ writer }: PanelProps) {
  const words = useWords(composeWords);
  const { language } = useSettings();
  const { draft } = useComposition();
  const { part, set } = useOwn(writer);
  const isOwn = part.content !== undefined;
  const { count, max, unit } = lengthFor(draft, writer);
  const error = useFieldError(writer, "text");
  const name = accountNameOf(writer);
  const counter = (
    <Counter count={count} max={max} unit={unit === "utf8_bytes" ? words.units.bytes : undefined} />
  );
  return (
    <div className={css.fieldset}>
      <Switch
        checked={isOwn}
        onChange={() => set({ content: isOwn ? undefined : textFor(draft, writer.id) })}
      >
        {words.ownText}
      </Switch>
      {isOwn ? (
        <>
          <TextArea
            data-place="text"
            className={css.ownText}
            aria-label={words.ownTextLabel(name)}
            aria-invalid={error === undefined ? undefined : true}
            lang={language}
            rows={5}
            value={part.content}
            onChange={({ target }) => set({ content: target.value })}
          />
          <span className="row hint">
            {error !== undefined && <FieldError>{error}</FieldError>}
            <span className="push">{counter}</span>
          </span>
        </>
      ) : (
        <>
          <p className={css.inherit}>{draft.text === "" ? words.noTextYet : draft.text}</p>
          <span className="row hint">
            {words.follows}
            <span className="push">{counter}</span>
          </span>
        </>
      )}
    </div>
  );
}
