/** Small pictures by address, decoded; a bounded number is kept, the least recently drawn go first. */

export class Thumbnails {
  private readonly held = new Map<string, HTMLImageElement | null>();
  private readonly waiting: string[] = [];
  private loading = 0;

  constructor(
    private readonly onLoaded: () => void,
    private readonly limit = 600,
    private readonly atOnce = 8,
  ) {}

  /** The picture if it is there; if not it is asked for, and `onLoaded` says when to draw again. */
  get(address: string): HTMLImageElement | null {
    const picture = this.held.get(address);
    if (picture !== undefined) {
      this.held.delete(address);
      this.held.set(address, picture);
      return picture;
    }
    this.held.set(address, null);
    this.waiting.push(address);
    this.forget();
    this.next();
    return null;
  }

  /** What was asked for before and is still waiting is not wanted any more: the view moved on. */
  moveOn(): void {
    for (const address of this.waiting.splice(0)) this.held.delete(address);
  }

  private next(): void {
    while (this.loading < this.atOnce) {
      const address = this.waiting.shift();
      if (address === undefined) return;
      this.loading += 1;
      const picture = new Image();
      picture.src = address;
      picture
        .decode()
        .then(() => {
          if (this.held.has(address)) this.held.set(address, picture);
          this.onLoaded();
        })
        .catch(() => undefined) // it stays without a picture
        .finally(() => {
          this.loading -= 1;
          this.next();
        });
    }
  }

  private forget(): void {
    for (const address of this.held.keys()) {
      if (this.held.size <= this.limit) return;
      this.held.delete(address);
    }
  }
}
