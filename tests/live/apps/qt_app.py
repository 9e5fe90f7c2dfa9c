"""A small form in Qt, run by the system's Python: the same form as the other toolkits' programs here.

python3 qt_app.py 5|6
"""

import importlib
import sys

VERSION = sys.argv[1]
QtWidgets = importlib.import_module(f"PyQt{VERSION}.QtWidgets")

COLOURS = ("Red", "Green", "Blue")
ROWS = ("Alpha", "Beta", "Gamma", "Delta", "Epsilon")


class Form(QtWidgets.QMainWindow):
    """The window."""

    def __init__(self) -> None:
        super().__init__()
        self.setWindowTitle(f"Qt {VERSION} form")
        self.resize(420, 440)
        files = self.menuBar().addMenu("File")
        files.addAction("Open…", lambda: QtWidgets.QFileDialog.getOpenFileName(self, "Open"))
        files.addAction("About", lambda: QtWidgets.QMessageBox.information(self, "About", "A form"))
        files.addAction("Quit", self.close)
        self.menuBar().addMenu("Help").addAction("Contents")

        label = QtWidgets.QLabel("Not yet")
        button = QtWidgets.QPushButton("Press me")
        button.clicked.connect(lambda: label.setText("Pressed"))
        colours = QtWidgets.QComboBox()
        colours.addItems(COLOURS)
        rows = QtWidgets.QListWidget()
        rows.addItems(ROWS)
        box = QtWidgets.QVBoxLayout()
        for widget in (button, label, QtWidgets.QLineEdit(), QtWidgets.QCheckBox("Remember"), colours, rows):
            box.addWidget(widget)
        middle = QtWidgets.QWidget()
        middle.setLayout(box)
        self.setCentralWidget(middle)


def main() -> int:
    """Run until the window is closed."""
    app = QtWidgets.QApplication(sys.argv[:1])
    app.setApplicationName(f"qt{VERSION}_app")
    form = Form()
    form.show()
    return app.exec()


if __name__ == "__main__":
    sys.exit(main())
