import type { CreatedVia, PlatformId } from "@postrider/client";
import type { OverviewJson } from "@postrider/rest/dashboard/overview";
import { Calendar, SlidersHorizontal } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../../kit/button.tsx";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { Segments } from "../../kit/segments.tsx";
import { Select } from "../../kit/select.tsx";
import { useWords } from "../../words/use-words.ts";
import { type Filters, isSet, type Range, RANGES, type Tab } from "./filters.ts";
import { postsWords } from "./posts-words.ts";
import css from "./posts.module.css";

interface FilterBarProps {
  readonly filters: Filters;
  readonly overview: OverviewJson | undefined;
  readonly onChange: (filters: Filters) => void;
}

/** The tabs of the list with their counts, and what narrows it. */
export function FilterBar({ filters, overview, onChange }: FilterBarProps) {
  const words = useWords(postsWords);
  const counts = overview?.counts;
  const tabs: readonly { value: Tab; label: ReactNode }[] = [
    { value: "all", label: words.all },
    {
      value: "needs-you",
      label: <Counted label={words.needsYou} count={overview?.needsYou.posts} isBad />,
    },
    { value: "scheduled", label: <Counted label={words.scheduled} count={counts?.scheduled} /> },
    { value: "draft", label: <Counted label={words.drafts} count={counts?.draft} /> },
    { value: "published", label: words.published },
  ];
  return (
    <div className="filters scroll" data-filters>
      <Segments
        label={words.status}
        value={filters.tab}
        segments={tabs}
        onChange={(tab) => onChange({ ...filters, tab })}
      />
      <Selects filters={filters} onChange={onChange} />
      {counts && !isSet(filters) && filters.tab === "all" && (
        <span className="push muted xs not-s">{words.newestFirst(textOf(counts.all))}</span>
      )}
    </div>
  );
}

type Changes = Pick<FilterBarProps, "filters" | "onChange">;

function Selects({ filters, onChange }: Changes) {
  const words = useWords(postsWords);
  const { platform, via, range } = filters;
  return (
    <>
      <Select
        label={words.platform}
        value={platform ?? ""}
        isSet={platform !== undefined}
        onChange={(value) => onChange({ ...filters, platform: (value || undefined) as PlatformId })}
        options={[
          { value: "", label: words.allPlatforms },
          ...Object.entries(PLATFORMS).map(([value, { name }]) => ({ value, label: name })),
        ]}
      />
      <Select
        label={words.createdVia}
        value={via ?? ""}
        isSet={via !== undefined}
        onChange={(value) => onChange({ ...filters, via: (value || undefined) as CreatedVia })}
        options={[
          { value: "", label: words.anywhere },
          ...Object.entries(words.via).map(([value, label]) => ({ value, label })),
        ]}
      />
      <Select
        label={words.dates}
        icon={Calendar}
        value={range ?? ""}
        isSet={range !== undefined}
        onChange={(value) => onChange({ ...filters, range: (value || undefined) as Range })}
        options={[
          { value: "", label: words.anyDate },
          ...RANGES.map((value) => ({ value, label: words.ranges[value] })),
        ]}
      />
    </>
  );
}

interface CountedProps {
  readonly label: string;
  readonly count: OverviewJson["counts"]["all"] | undefined;
  readonly isBad?: boolean;
}

function Counted({ label, count, isBad = false }: CountedProps) {
  return (
    <>
      {label}
      {count !== undefined && count.count > 0 && (
        <span className={isBad ? css.badCount : "muted num"}>{textOf(count)}</span>
      )}
    </>
  );
}

export function textOf({ count, isMore }: OverviewJson["counts"]["all"]): string {
  return `${count.toLocaleString("en")}${isMore ? "+" : ""}`;
}

/** On a phone: leads to the filters. */
export function FilterButton() {
  const words = useWords(postsWords);
  const show = () => {
    const bar = document.querySelector<HTMLElement>("[data-filters]");
    bar?.scrollIntoView({ block: "center" });
    bar?.querySelector("select")?.focus();
  };
  return (
    <Button
      kind="ghost"
      icon={SlidersHorizontal}
      className="only-s"
      aria-label={words.filter}
      onClick={show}
    />
  );
}
