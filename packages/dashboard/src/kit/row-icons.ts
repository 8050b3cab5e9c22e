import { createLucideIcon, type LucideIcon } from "lucide-react";

const icon = (name: string, d: string): LucideIcon =>
  createLucideIcon(name, [["path", { d, key: name }]]);

/*
 * Icons of Lucide that stand in every row of a list, of one path each instead of three to six: a
 * screen has a hundred of them, and each shape is laid out and painted by itself.
 */
export const AppWindow = icon(
  "app-window",
  "M4 4h16a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2zM10 4v4M2 8h20M6 4v4",
);
export const Bot = icon(
  "bot",
  "M12 8V4H8M6 8h12a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-8a2 2 0 0 1 2-2zM2 14h2M20 14h2M15 13v2M9 13v2",
);
export const CodeXml = icon("code-xml", "m18 16 4-4-4-4M6 8l-4 4 4 4M14.5 4l-5 16");
export const Ellipsis = icon(
  "ellipsis",
  "M13 12a1 1 0 1 1-2 0 1 1 0 1 1 2 0zM20 12a1 1 0 1 1-2 0 1 1 0 1 1 2 0zM6 12a1 1 0 1 1-2 0 1 1 0 1 1 2 0z",
);
