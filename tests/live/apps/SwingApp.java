import java.awt.BorderLayout;
import java.awt.FlowLayout;
import javax.swing.JButton;
import javax.swing.JCheckBox;
import javax.swing.JComboBox;
import javax.swing.JFileChooser;
import javax.swing.JFrame;
import javax.swing.JLabel;
import javax.swing.JList;
import javax.swing.JMenu;
import javax.swing.JMenuBar;
import javax.swing.JMenuItem;
import javax.swing.JOptionPane;
import javax.swing.JPanel;
import javax.swing.JTextField;
import javax.swing.SwingUtilities;

/** A small form in Swing: the same form as the other toolkits' programs here. Run as `java SwingApp.java`. */
public final class SwingApp {
    private static final String[] COLOURS = {"Red", "Green", "Blue"};
    private static final String[] ROWS = {"Alpha", "Beta", "Gamma", "Delta", "Epsilon"};

    private static JMenuItem item(String label, Runnable action) {
        JMenuItem item = new JMenuItem(label);
        item.addActionListener(event -> action.run());
        return item;
    }

    private static void build() {
        JFrame frame = new JFrame("Swing form");
        JMenu file = new JMenu("File");
        file.add(item("Open…", () -> new JFileChooser().showOpenDialog(frame)));
        file.add(item("About", () -> JOptionPane.showMessageDialog(frame, "A form")));
        file.add(item("Quit", () -> System.exit(0)));
        JMenu help = new JMenu("Help");
        help.add(item("Contents", () -> {}));
        JMenuBar bar = new JMenuBar();
        bar.add(file);
        bar.add(help);
        frame.setJMenuBar(bar);

        JLabel label = new JLabel("Not yet");
        JButton button = new JButton("Press me");
        button.addActionListener(event -> label.setText("Pressed"));
        JPanel top = new JPanel(new FlowLayout());
        top.add(button);
        top.add(label);
        JPanel middle = new JPanel(new FlowLayout());
        middle.add(new JTextField(20));
        middle.add(new JCheckBox("Remember"));
        middle.add(new JComboBox<>(COLOURS));
        frame.add(top, BorderLayout.NORTH);
        frame.add(middle, BorderLayout.CENTER);
        frame.add(new JList<>(ROWS), BorderLayout.SOUTH);
        frame.setSize(480, 400);
        frame.setDefaultCloseOperation(JFrame.EXIT_ON_CLOSE);
        frame.setVisible(true);
    }

    /** Run until the window is closed. */
    public static void main(String[] arguments) {
        SwingUtilities.invokeLater(SwingApp::build);
    }
}
