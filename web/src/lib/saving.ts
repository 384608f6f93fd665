// Saving what is shown: SVG, PNG and JSON, made in the browser.
export function download(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function saveJson(name: string, data: unknown): void {
  const plain = (_: string, value: unknown) => (ArrayBuffer.isView(value) ? Array.from(value as Float32Array) : value);
  download(`${name}.json`, new Blob([JSON.stringify(data, plain, 1)], { type: "application/json" }));
}

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight", "text-anchor", "dominant-baseline"];

/** Return all pictures of a figure as one SVG, below each other, with the styles they have on the page. */
export function asSvg(figure: Element): { text: string; width: number; height: number } {
  const pictures = [...figure.querySelectorAll("svg.picture")] as SVGSVGElement[];
  const background = getComputedStyle(document.documentElement).backgroundColor;
  let height = 0;
  let width = 0;
  const parts = pictures.map((picture) => {
    const copy = picture.cloneNode(true) as SVGSVGElement;
    inline(picture, copy);
    copy.querySelectorAll("[data-screen]").forEach((each) => each.remove());
    const below = picture.previousElementSibling;
    if (below instanceof HTMLCanvasElement) copy.prepend(asImage(below));
    const box = picture.viewBox.baseVal;
    const [w, h] = [box?.width || picture.clientWidth, box?.height || picture.clientHeight];
    copy.setAttribute("width", String(w));
    copy.setAttribute("height", String(h));
    copy.setAttribute("y", String(height));
    height += h + 8;
    width = Math.max(width, w);
    return new XMLSerializer().serializeToString(copy);
  });
  const sheet = `<rect width="100%" height="100%" fill="${background}"/>`;
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${sheet}${parts.join("")}</svg>`;
  return { text, width, height };
}

/** Return what a canvas below a picture shows. */
function asImage(canvas: HTMLCanvasElement): SVGImageElement {
  const image = document.createElementNS("http://www.w3.org/2000/svg", "image");
  image.setAttribute("href", canvas.toDataURL());
  image.setAttribute("width", String(canvas.width));
  image.setAttribute("height", String(canvas.height));
  return image;
}

function inline(from: Element, to: Element): void {
  const style = getComputedStyle(from);
  for (const name of STYLES) (to as SVGElement).style.setProperty(name, style.getPropertyValue(name));
  to.removeAttribute("class");
  for (let i = 0; i < from.children.length; i++) inline(from.children[i], to.children[i]);
}

export function saveSvg(name: string, figure: Element): void {
  download(`${name}.svg`, new Blob([asSvg(figure).text], { type: "image/svg+xml" }));
}

export async function savePng(name: string, figure: Element): Promise<void> {
  const { text, width, height } = asSvg(figure);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * width;
  canvas.height = 2 * height;
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  const content = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
  if (content) download(`${name}.png`, content);
}
