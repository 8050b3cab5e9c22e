import { PostriderError } from "@postrider/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/api.ts";
import { Counter } from "../kit/counter.tsx";
import { ErrorNotice } from "../kit/error-notice.tsx";
import { Field, TextArea } from "../kit/field.tsx";
import { useWords } from "../words/use-words.ts";
import { describeInLists } from "./media-api.ts";
import { mediaWords } from "./media-words.ts";

const MAX_LENGTH = 1500;

interface DescriptionFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error?: unknown;
}

export function DescriptionField({ value, onChange, error }: DescriptionFieldProps) {
  const words = useWords(mediaWords);
  const isInUse = error instanceof PostriderError && error.code === "media_in_use";
  return (
    <>
      <Field
        label={words.description}
        hint={words.descriptionHint}
        error={isInUse ? words.inUse : undefined}
        counter={<Counter count={value.length} max={MAX_LENGTH} />}
      >
        {(control) => (
          <TextArea
            {...control}
            rows={3}
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
        )}
      </Field>
      {error !== undefined && !isInUse && <ErrorNotice error={error} />}
    </>
  );
}

interface Described {
  readonly id: string;
  readonly altText: string | null;
}

/** A description while it is written, and how it is saved. */
export function useDescription(
  { id, altText }: Described,
  onSaved: (altText: string | null) => void,
) {
  const client = useQueryClient();
  const [value, setValue] = useState(altText ?? "");
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const saved = await api.updateMedia(id, {
        altText: value.trim() === "" ? null : value.trim(),
      });
      describeInLists(client, saved);
      onSaved(saved.altText);
      void client.invalidateQueries({ queryKey: ["media"] });
    } catch (caught) {
      setError(caught);
    } finally {
      setBusy(false);
    }
  };
  return { value, setValue, error, isBusy, isChanged: value.trim() !== (altText ?? ""), save };
}
