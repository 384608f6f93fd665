// Numbers as people read them.
export function percent(value: number): string {
  return value >= 0.0995 ? `${(100 * value).toFixed(0)} %` : `${(100 * value).toPrecision(2)} %`;
}

export function short(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 1e6)) return value.toExponential(2);
  return size >= 1000 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(4)));
}

export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
