/** The mark of Postrider, in the colour of the text. */
export function Mark({ className }: { readonly className?: string | undefined }) {
  return (
    <svg className={className} viewBox="0 0 28 28" width="28" height="28" aria-hidden="true">
      <rect width="28" height="28" rx="7" fill="currentColor" />
      <path
        d="M10 17.4V8.2h5.6a4.6 4.6 0 0 1 0 9.2h-1.4"
        fill="none"
        stroke="var(--on-ink)"
        strokeWidth="2.4"
        strokeLinecap="round"
      />
      <circle cx="10" cy="21.2" r="1.9" fill="var(--on-ink)" />
    </svg>
  );
}
