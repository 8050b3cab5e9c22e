import { sampleJpeg, sampleMp4, samplePng } from "@postrider/local/demo/sample-media";
import { ascii, box } from "@postrider/local/demo/sample-mp4";
import { sampleWebm } from "../sample-webm.ts";
import { hostile, type HostileFile } from "./hostile-file.ts";

const HTML = "<!doctype html><html><script>alert(document.domain)</script></html>";
const SVG = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`;
const SVG_BOMB = `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>${SVG}`;
const ZIP = Buffer.concat([
  Buffer.from("PK\x03\x04", "latin1"),
  Buffer.alloc(26),
  Buffer.from("PK\x05\x06", "latin1"),
  Buffer.alloc(18),
]);

/** Creates files that are valid in two formats, or that have another type than declared. */
export function polyglots(): HostileFile[] {
  const jpeg = Buffer.from(sampleJpeg());
  const png = Buffer.from(samplePng());
  const mp4 = Buffer.from(sampleMp4());
  return [
    ...hostile("image/jpeg", "rejected", {
      "HTML called a JPEG": ascii(HTML),
      "SVG called a JPEG": ascii(SVG),
      "a PDF with a JPEG in it": Buffer.concat([ascii("%PDF-1.4\n"), jpeg]),
      "PHP after a JPEG signature": Buffer.concat([
        Buffer.from([0xff, 0xd8, 0xff, 0xe0]),
        ascii("<?php system($_GET['c']); ?>"),
      ]),
      "a PNG called a JPEG": png,
      "an executable called a JPEG": Buffer.concat([ascii("\x7fELF"), Buffer.alloc(200)]),
      "a video called a JPEG": mp4,
      "no bytes called a JPEG": Buffer.alloc(0),
      "one byte called a JPEG": Buffer.from([0xff]),
      "HTML with a JPEG after it": Buffer.concat([ascii(HTML), jpeg]),
    }),
    ...hostile("image/jpeg", "accepted", {
      "a JPEG with a ZIP after it": Buffer.concat([jpeg, ZIP]),
      "a JPEG with HTML after it": Buffer.concat([jpeg, ascii(HTML)]),
      "a JPEG with a video after it": Buffer.concat([jpeg, mp4]),
    }),
    ...hostile("image/png", "accepted", {
      "a PNG with JavaScript after it": Buffer.concat([png, ascii("*/=1;alert(1);//")]),
    }),
    ...hostile("image/gif", "rejected", {
      "JavaScript with a GIF signature": ascii("GIF89a/*\0\0\0\0*/=1;alert(document.domain);//"),
      "HTML with a GIF signature": ascii(`GIF89a${HTML}`),
    }),
    ...hostile("image/svg+xml", "rejected", {
      "an SVG": ascii(SVG),
      "an SVG bomb": ascii(SVG_BOMB),
    }),
    ...hostile("image/bmp", "rejected", {
      "JavaScript with a BMP signature": ascii(`BM=1;/*${"\0".repeat(60)}*/alert(1)`),
    }),
    ...hostile("video/mp4", "rejected", {
      "HTML called an MP4": ascii(HTML),
      "HTML after an MP4's first box": Buffer.concat([
        box("ftyp", ascii("isom\0\0\0\0")),
        ascii(HTML),
      ]),
      "an MP4 with HTML after it": Buffer.concat([mp4, ascii(HTML)]),
      "a WebM called an MP4": sampleWebm(),
      "a QuickTime video called an MP4": Buffer.from(sampleMp4({ brand: "qt  " })),
      "a HEIC image called an MP4": Buffer.concat([
        box("ftyp", ascii("heic\0\0\0\0heic")),
        Buffer.alloc(99),
      ]),
      "a playlist called an MP4": ascii("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"),
    }),
    ...hostile("video/webm", "rejected", {
      "a Matroska video called a WebM": sampleWebm({ docType: "matroska" }),
      "a WebM with HTML after it": Buffer.concat([sampleWebm(), ascii(HTML)]),
    }),
  ];
}
