import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { encode } from "uqr";

/** A text as a QR code, dark on light in every look, as cameras want it. */
export function QrCode({ text, label }: { text: string; label: string }): VNode {
  const { path, size } = useMemo(() => {
    const code = encode(text, { border: 2 });
    const squares = code.data.flatMap((row, y) =>
      row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
    );
    return { path: squares.join(""), size: code.size };
  }, [text]);
  return (
    <svg class="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
